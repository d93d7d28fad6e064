"""Models behind an OpenAI-compatible server: the client, the probe, and the ladder of ways to answer."""
