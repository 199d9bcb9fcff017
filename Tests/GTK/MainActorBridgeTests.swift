#if GTK
    import AlcedoGTK
    import CGTK
    import Testing

    @Suite @MainActor struct MainActorBridgeTests {
        /// Uses a millisecond of the processor.
        private static func work() {
            let end = ThreadTime.now + .milliseconds(1)
            while ThreadTime.now < end {}
        }

        @Test func `the work of a prefetcher that a task resets counts once`() throws {
            let adjustment = try #require(gtk_adjustment_new(0, 0, 100, 1, 10, 10))
            let prefetcher = ScrollPrefetcher(
                adjustment: OpaquePointer(g_object_ref_sink(adjustment)),
                count: {
                    Self.work()
                    return 100
                },
                request: { _ in nil }, start: { _ in }, stop: { _ in })
            g_object_unref(adjustment)

            let (before, start) = (MainActorBridge.busyTime, ThreadTime.now)
            MainActorBridge.measure { prefetcher.reset() }
            let (counted, used) = (MainActorBridge.busyTime - before, ThreadTime.now - start)

            #expect(counted >= .milliseconds(1))
            #expect(counted <= used)
        }
    }
#endif
