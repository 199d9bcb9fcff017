#if GTK
    import CGTK

    /// Runs a closure in the next turn of GTK's main loop, once however often it is asked for until then.
    @MainActor final class IdleWork {
        private var work: (@MainActor () -> Void)?

        func schedule(_ work: @escaping @MainActor () -> Void) {
            guard self.work == nil else { return }
            self.work = work
            // As urgent as input: before the next frame.
            g_idle_add_full(
                G_PRIORITY_DEFAULT,
                { idle in
                    guard let idle else { return 0 }
                    MainActor.assumeIsolated { Unmanaged<IdleWork>.fromOpaque(idle).takeUnretainedValue().run() }
                    return 0
                }, Unmanaged.passRetained(self).toOpaque(),
                { idle in idle.map { Unmanaged<IdleWork>.fromOpaque($0).release() } })
        }

        private func run() {
            let work = work
            self.work = nil
            work?()
        }
    }
#endif
