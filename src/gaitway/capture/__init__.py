"""Import of motion capture: raw capture files become a library of behaviours."""

from gaitway.capture.corpora import prepared_corpus, rehearsed_corpus
from gaitway.capture.importing import Imported, ImportOptions, import_library, library_of

__all__ = ["ImportOptions", "Imported", "import_library", "library_of", "prepared_corpus", "rehearsed_corpus"]
