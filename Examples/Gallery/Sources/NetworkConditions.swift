#if GTK
    import Alcedo
    import AlcedoHTTP
    import Synchronization

    /// The delay and the failures of the network: set by the sliders, read by the transport and the server.
    final class NetworkConditions: Sendable {
        private struct State {
            var delay: Duration
            var failureRate: Double
        }

        private let state: Mutex<State>

        init(delay: Duration, failureRate: Double) {
            state = Mutex(State(delay: delay, failureRate: failureRate))
        }

        /// How much longer each answer takes.
        var delay: Duration {
            get { state.withLock { $0.delay } }
            set { state.withLock { $0.delay = newValue } }
        }

        /// From 0, nothing fails, to 1.
        var failureRate: Double {
            get { state.withLock { $0.failureRate } }
            set { state.withLock { $0.failureRate = newValue } }
        }
    }

    /// A transport that takes as much longer as the conditions say.
    struct SlowTransport: HTTPTransport {
        let transport: any HTTPTransport
        let conditions: NetworkConditions

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let delay = conditions.delay
            if delay > .zero { try await Task.sleep(for: delay) }
            return try await transport.send(request)
        }
    }
#endif
