#if GTK
    import AlcedoLibc
    import CGTK
    import Dispatch

    /// A bridge that runs the main actor on GTK's main loop.
    ///
    /// ```swift
    /// MainActorBridge.install()
    /// g_main_loop_run(loop)
    /// ```
    ///
    /// Without the bridge, `@MainActor` tasks and blocks on `DispatchQueue.main` do not run while GTK's main loop runs.
    @MainActor public enum MainActorBridge {
        private static var isInstalled = false

        /// The processor time that the main actor's work and ``ScrollPrefetcher`` have used on the main thread so far.
        /// The work of GTK itself is not included. Compare the increase per frame with the duration of a frame.
        public package(set) static var busyTime = Duration.zero

        /// Adds the main queue to the default main context permanently. Call it before the loop runs. Further calls do
        /// nothing.
        public static func install() {
            guard !isInstalled else { return }
            isInstalled = true
            g_unix_fd_add(_dispatch_get_main_queue_port_4CF(), G_IO_IN, runMainQueue, nil)
        }

        private static let runMainQueue: GUnixFDSourceFunc = { descriptor, _, _ in
            // The descriptor counts wake-ups and stays readable until it is read. A source that is always ready would
            // keep GTK from drawing, because redraws have a lower priority.
            var wakeUps: UInt64 = 0
            _ = read(descriptor, &wakeUps, MemoryLayout<UInt64>.size)
            let start = ThreadTime.now
            _dispatch_main_queue_callback_4CF(nil)
            MainActor.assumeIsolated { busyTime += ThreadTime.now - start }
            return gboolean(1)
        }
    }

    /// The processor time of the calling thread. Unlike the time of a clock, it does not advance while another program
    /// uses the processor.
    package enum ThreadTime {
        /// The processor time that the thread has used so far.
        package static var now: Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }
#endif
