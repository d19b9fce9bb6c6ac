#![no_std]
#![no_main]

images::only!(rivals::vortex_256);
