"""Pictures on one sheet: strips, graphs, trees and reports."""
