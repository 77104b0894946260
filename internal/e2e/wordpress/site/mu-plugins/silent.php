<?php
add_filter('pre_http_request', fn() => new WP_Error('blocked', 'this site calls nobody'));
function wp_mail() { return true; }
