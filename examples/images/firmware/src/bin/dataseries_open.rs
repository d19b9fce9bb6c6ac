#![no_std]
#![no_main]

firmware::image!(entries::dataseries_read::open);
