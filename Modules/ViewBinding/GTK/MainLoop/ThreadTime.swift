#if GTK
    import AlcedoLibc

    /// How long the calling thread has computed: unlike the time of a clock, it stands still while another program has the
    /// processor.
    package enum ThreadTime {
        package static var now: Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }
#endif
