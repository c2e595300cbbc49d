"""Pi: the bridge over stdio, and the TypeScript extension as package data."""
