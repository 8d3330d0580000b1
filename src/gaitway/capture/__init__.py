"""From a folder of raw captures to a library."""

from gaitway.capture.corpora import prepared_corpus, rehearsed_corpus
from gaitway.capture.importing import Imported, ImportOptions, import_library, library_of

__all__ = ["ImportOptions", "Imported", "import_library", "library_of", "prepared_corpus", "rehearsed_corpus"]
