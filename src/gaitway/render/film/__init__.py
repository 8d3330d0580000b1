"""Films and stills of clips and takes."""
