#if GTK
    import AlcedoLibc
    import CGTK
    import Dispatch

    /// Runs the main actor while GTK's main loop has the main thread.
    ///
    /// Without it, `@MainActor` tasks and blocks on `DispatchQueue.main` wait for as long as `g_application_run` runs.
    @MainActor public enum MainActorBridge {
        private static var isInstalled = false

        /// How long the main actor's work and ``ScrollPrefetcher`` have computed on the main thread so far. What GTK computes
        /// itself is not included. To be compared with the time of a frame.
        public package(set) static var busyTime = Duration.zero

        /// Adds the main queue to the default main context, for good. Call it before the loop runs; further calls do
        /// nothing.
        public static func install() {
            guard !isInstalled else { return }
            isInstalled = true
            g_unix_fd_add(_dispatch_get_main_queue_port_4CF(), G_IO_IN, runMainQueue, nil)
        }

        private static let runMainQueue: GUnixFDSourceFunc = { descriptor, _, _ in
            // Read first: the descriptor counts wake-ups and stays readable until it is, and a source that is always
            // ready keeps GTK, whose redraws are less urgent, from ever drawing.
            var wakeUps: UInt64 = 0
            _ = read(descriptor, &wakeUps, MemoryLayout<UInt64>.size)
            let start = ThreadTime.now
            _dispatch_main_queue_callback_4CF(nil)
            MainActor.assumeIsolated { busyTime += ThreadTime.now - start }
            return gboolean(1)
        }
    }

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
