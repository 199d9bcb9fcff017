#if GTK
    import Alcedo
    import AlcedoHTTP
    import Synchronization

    /// How bad the network is: set by the sliders, read by those who play it.
    final class NetworkWeather: Sendable {
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

    /// A transport that takes as much longer as the weather says.
    struct SlowTransport: HTTPTransport {
        let transport: any HTTPTransport
        let weather: NetworkWeather

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let delay = weather.delay
            if delay > .zero { try await Task.sleep(for: delay) }
            return try await transport.send(request)
        }
    }
#endif
