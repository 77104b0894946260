<?php
define('DB_NAME', getenv('WP_DB'));
define('DB_USER', getenv('WP_DB_USER'));
define('DB_PASSWORD', getenv('WP_DB_PASSWORD'));
define('DB_HOST', getenv('WP_DB_HOST'));
define('WP_HOME', getenv('WP_ADDRESS'));
define('WP_SITEURL', getenv('WP_ADDRESS'));
define('WP_CONTENT_DIR', __DIR__);
// Application passwords need TLS anywhere else.
define('WP_ENVIRONMENT_TYPE', 'local');
// Nothing is called, neither the internet nor the site itself.
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('WP_AUTO_UPDATE_CORE', false);
$table_prefix = getenv('WP_PREFIX');
require_once ABSPATH . 'wp-settings.php';
