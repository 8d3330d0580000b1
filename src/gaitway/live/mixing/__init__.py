"""Throngs among live characters: where it is dense, people follow local dynamics, and go back to clips where it opens.

Reservations of whole plans are right in open places and hopeless in a throng, where nobody knows beforehand when a gap
will be free (`gaitway.crowd`).
"""
