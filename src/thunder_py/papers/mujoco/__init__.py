"""The papers' loops on MuJoCo's plant."""
