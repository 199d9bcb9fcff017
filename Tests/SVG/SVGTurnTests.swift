#if SVG
    import AlcedoCore
    import AlcedoLibc
    import AlcedoRuntime
    import AlcedoTesting
    import CSVGShim
    import FoundationEssentials
    import TestSupport
    import Testing

    @testable import AlcedoSVG

    /// Turns that drawings hold after their time limit, while others wait.
    ///
    /// The tests that suspend while they hold the turns run on a queue of their own: the drawings of other tests wait
    /// for these turns, and may occupy all threads of the cooperative pool.
    @Suite(.serialized, .timeLimit(.minutes(5))) struct SVGTurnTests {
        /// Two drawings that have not ended.
        private final class Runaways {
            private let turns = UnsafeMutablePointer<alcedo_svg_turn>.allocate(capacity: 2)

            /// Begins the drawings. Their turns end after some seconds, or earlier.
            init(turnSeconds: Int) {
                var end = timespec()
                clock_gettime(CLOCK_MONOTONIC, &end)
                end.tv_sec += turnSeconds
                turns.initialize(repeating: alcedo_svg_turn(), count: 2)
                for index in 0..<2 { alcedo_svg_hold_turn(turns + index, end) }
            }

            deinit {
                end()
                turns.deallocate()
            }

            func end() { for index in 0..<2 { alcedo_svg_end_turn(turns + index) } }
        }

        /// The number of checks of a waiting drawing.
        private static let checks = Watched(0)

        private let threads = BlockingExecutor(name: "drawings", maxConcurrent: 1)
        private let decoder = SVGDecoder(timeLimit: .seconds(200))
        /// A document that needs a thread of its own, and so a turn.
        private let deep = document(
            String(repeating: "<g>", count: 40) + "<rect width='64' height='64' fill='blue'/>"
                + String(repeating: "</g>", count: 40))

        @Test func `a drawing waits until a turn ends`() async throws {
            try await withTaskExecutorPreference(SerialQueueExecutor.shared) {
                let runaways = Runaways(turnSeconds: 10_000)
                async let isTurn = threads.run {
                    alcedo_svg_wait_for_turn {
                        SVGTurnTests.checks.update { $0 += 1 }
                        return 0
                    }
                }
                try await Self.checks.waitUntil { $0 >= 3 }

                runaways.end()

                #expect(try await isTurn == 1)
            }
        }

        @Test func `a document that waits is drawn`() async throws {
            try await withTaskExecutorPreference(SerialQueueExecutor.shared) {
                let runaways = Runaways(turnSeconds: 10_000)
                let hasBegun = Watched(false)
                async let image = threads.run { [decoder, deep] in
                    hasBegun.update { $0 = true }
                    return try decoder.decode(deep, options: DecodingOptions())
                }
                try await hasBegun.waitUntil { $0 }

                runaways.end()

                #expect(try await image.pixels.rgba(4, 4) == [0, 0, 255, 255])
            }
        }

        @Test func `the cancellation of its task ends the wait of a document at once`() async throws {
            try await withTaskExecutorPreference(SerialQueueExecutor.shared) {
                let runaways = Runaways(turnSeconds: 10_000)
                let hasBegun = Watched(false)
                let load = Task(executorPreference: SerialQueueExecutor.shared) { [threads, decoder, deep] in
                    try await threads.run {
                        hasBegun.update { $0 = true }
                        return decoder.errorCode(deep)
                    }
                }
                try await hasBegun.waitUntil { $0 }

                load.cancel()

                #expect(try await load.value == .decoderUnavailable)
                withExtendedLifetime(runaways) {}
            }
        }

        @Test func `a drawing that never ends loses its turn`() throws {
            let runaways = Runaways(turnSeconds: 0)

            let image = try decoder.decode(deep, options: DecodingOptions())

            #expect(image.pixels.rgba(4, 4) == [0, 0, 255, 255])
            withExtendedLifetime(runaways) {}
        }
    }
#endif
