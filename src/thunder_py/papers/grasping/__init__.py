"""Grasping from rendered pictures, with contact (D4.2, section 6)."""
