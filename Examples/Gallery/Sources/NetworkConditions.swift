#if GTK
    import Alcedo
    import AlcedoHTTP
    import Synchronization

    /// The delay and the failure rate of the network, which the sliders set and the transport and the server read.
    final class NetworkConditions: Sendable {
        private struct State {
            var delay: Duration
            var failureRate: Double
        }

        private let state: Mutex<State>

        init(delay: Duration, failureRate: Double) {
            state = Mutex(State(delay: delay, failureRate: failureRate))
        }

        /// The additional time that each response takes.
        var delay: Duration {
            get { state.withLock { $0.delay } }
            set { state.withLock { $0.delay = newValue } }
        }

        /// The share of requests that fail, from 0 to 1.
        var failureRate: Double {
            get { state.withLock { $0.failureRate } }
            set { state.withLock { $0.failureRate = newValue } }
        }
    }

    /// A transport that delays each request by the configured time.
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
