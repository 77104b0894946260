<?php
// Read before every script: WordPress takes its configuration from this folder, and its program
// through the links beside it.
define('ABSPATH', __DIR__ . '/');
