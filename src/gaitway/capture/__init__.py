"""Import of motion capture: raw capture files become a library of behaviours."""

from gaitway.capture.importing import Imported, ImportOptions, import_library, library_of
from gaitway.capture.reading.prepared import capture_corpus

__all__ = ["ImportOptions", "Imported", "capture_corpus", "import_library", "library_of"]
