import Alcedo

/// Sends requests through another transport and reports each exchange to a log, as it ends.
struct WatchedTransport: HTTPTransport {
    let transport: any HTTPTransport
    let log: TransferLog

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var report = log.begin(request)
        do {
            var response = try await transport.send(request)
            report.received(response.head)
            response.body = HTTPBody(WatchedBody(response, report, log))
            return response
        } catch {
            report.finish(.failed(error), (error as? HTTPTransportError)?.metrics)
            log.end(report)
            throw error
        }
    }
}
