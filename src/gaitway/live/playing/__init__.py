"""What live characters play: their plans as arrays, their bodies and reservations, and the state that can be saved."""
