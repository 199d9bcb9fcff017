#if GTK
    import Alcedo

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
