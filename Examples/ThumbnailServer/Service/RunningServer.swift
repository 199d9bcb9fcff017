/// A server that listens, and what is behind it.
struct RunningServer: Sendable {
    private let stack: ServerStack
    private let server: HTTPServer

    /// - Throws: `HTTPServer.CannotListen`.
    init(_ settings: ServerStack.Settings, _ listening: HTTPServer.Settings) throws {
        stack = ServerStack(settings)
        server = try HTTPServer(listening, handler: stack.service)
    }

    var port: Int { server.port }

    /// Takes nothing more, lets what runs end, up to the grace, and writes what belongs in stores. To be called once.
    func stop(grace: Duration) async {
        stack.service.beginStopping()
        await server.stop(grace: grace)
        await stack.shutDown()
    }
}
