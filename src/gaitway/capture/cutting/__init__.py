"""Where takes are cut into pieces, and how pieces are led to shared poses."""
