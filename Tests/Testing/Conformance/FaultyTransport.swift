import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// A correct transport with one fault.
struct FaultyTransport: HTTPTransport {
    private let fault: TransportKitTests.Fault
    private let transport = CURLTransport()
    private let sent = Watched(0)
    /// The bodies of a transport that never releases them.
    private let bodies = Watched<[HTTPBody]>([])

    init(_ fault: TransportKitTests.Fault) { self.fault = fault }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let number = sent.update { count -> Int in
            count += 1
            return count
        }
        // All after the first fifty. Of two hundred in any order, they include some that are not canceled.
        if fault == .cancelsUnrequested, number > 50 { throw CancellationError() }
        if fault == .takesAnyScheme, request.url.scheme == "file" {
            return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(Data()))
        }
        do {
            return try await changed(transport.send(changed(request)), of: request)
        } catch {
            throw changed(error)
        }
    }

    private func changed(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        switch fault {
        case .losesTheRequestBody: request.body = nil
        case .closesConnections: request.fields["Connection"] = "close"
        case .sendsLineEnds:
            let fields = request.fields.map { field in
                HTTPFields.Field(field.name, field.value.filter { !$0.isNewline })
            }
            request.fields = HTTPFields(fields)
        case .respondsForAnother:
            let text = request.url.absoluteString
            if text.hasSuffix("/77"), let other = URL(string: String(text.dropLast())) { request.url = other }
        default: break
        }
        return request
    }

    private func changed(_ response: HTTPResponse, of request: HTTPRequest) async throws -> HTTPResponse {
        var response = response
        switch fault {
        case .losesAField: response.head.fields["X-One"] = nil
        case .losesFieldsOfHEAD where request.method == .head: response.head.fields["Content-Length"] = nil
        case .throwsOnMissing where response.head.status == 404: throw HTTPTransportError(.failed, "not found")
        case .followsRedirects where response.head.status == 302:
            response.body.cancel()
            let there = response.head.fields["Location"].flatMap { URL(string: $0, relativeTo: request.url) }
            response = try await transport.send(HTTPRequest(url: (there ?? request.url).absoluteURL))
        case .losesTheLastByteOfChunks where response.head.fields["Transfer-Encoding"] != nil:
            response.body = HTTPBody(try await response.body.collect(limit: 1 << 20).dropLast())
        case .readsPastTheEnd where response.head.declaredBodyLength == 500:
            response.body = HTTPBody(try await response.body.collect(limit: 500) + [0])
        case .tellsTwoLengths where response.head.fields["Transfer-Encoding"] != nil:
            response.head.fields["Content-Length"] = "3"
        case .tellsMetricsEarly:
            response = HTTPResponse(
                head: response.head, body: response.body, interim: response.interim,
                metrics: { HTTPTransferMetrics() })
        case .keepsBodies:
            let body = response.body
            bodies.update { $0.append(body) }
            response.body = HTTPBody(FaultySource(body: body, transport: self))
        case .keepsHeads where response.head.declaredBodyLength == 1000 && request.method != .head:
            response.body = HTTPBody(try await response.body.collect(limit: 1000))
        case .endsAreWhole, .forgetsWhyItFailed, .wrapsCancellation:
            response.body = HTTPBody(FaultySource(body: response.body, transport: self))
        default: break
        }
        return response
    }

    fileprivate func changed(_ error: any Error) -> any Error {
        switch error {
        case is HTTPTransportError where fault == .forgetsWhyItFailed: HTTPTransportError(.failed, "\(error)")
        case is CancellationError where fault == .wrapsCancellation: HTTPTransportError(.failed, "canceled")
        default: error
        }
    }

    fileprivate var takesEndsForWhole: Bool { fault == .endsAreWhole }

    fileprivate var keepsBodies: Bool { fault == .keepsBodies }
}

/// Continues to read through the fault.
private struct FaultySource: HTTPBodySource {
    let body: HTTPBody
    let transport: FaultyTransport

    func next() async throws -> Data? {
        do {
            var iterator = body.makeAsyncIterator()
            return try await iterator.next()
        } catch is HTTPTransportError where transport.takesEndsForWhole {
            return nil
        } catch {
            throw transport.changed(error)
        }
    }

    func cancel() { if !transport.keepsBodies { body.cancel() } }
}
