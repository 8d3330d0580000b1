"""What all characters do over time, compactly: segments over clips, evaluated on demand."""
