<?php
// Makes the tables and a user, and prints an application password of this user's.
define('WP_INSTALLING', true);
require ABSPATH . 'wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
$user = wp_install('Example', 'gateway', 'gateway@example.com', false, '', wp_generate_password(32))['user_id'];
[$password] = WP_Application_Passwords::create_new_application_password($user, ['name' => 'gateway']);
echo $password;
