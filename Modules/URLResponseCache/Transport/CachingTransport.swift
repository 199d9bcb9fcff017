public import AlcedoCore
import FoundationEssentials

/// Answers requests from a store where HTTP allows it, and from another transport where not.
///
/// A private cache after RFC 9111 that would rather ask once too often: it stores whole answers to GET of status 200
/// that name a lifetime or have a validator, and never serves a stale one. Every answer says in its `Cache-Status` field
/// (RFC 9211) what the cache did. Trouble with the store never fails a request.
public struct CachingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let writer: ResponseWriter
    private let time: any TimeSource
    private let maximumBodyByteCount: Int

    /// - Parameters:
    ///   - transport: Where requests go that the cache cannot answer.
    ///   - store: Where answers are kept. Nobody else may change it meanwhile.
    ///   - time: Tells how old answers are.
    ///   - maximumBodyByteCount: Longer bodies are passed on and not stored. Default: 32 MiB.
    public init(
        wrapping transport: any HTTPTransport, store: any ResponseStoring, time: any TimeSource = SystemClock(),
        maximumBodyByteCount: Int = 32 << 20
    ) {
        self.transport = transport
        self.time = time
        self.maximumBodyByteCount = maximumBodyByteCount
        writer = ResponseWriter(store: store)
    }

    /// Returns a stored answer, or what the wrapped transport returns, or 504 when the request has `only-if-cached` and
    /// nothing fresh is stored.
    ///
    /// The body of an answer is stored when it has been read to its end; the reader learns of the end after that.
    ///
    /// - Throws: What the wrapped transport throws.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let isBypassed = RequestRules(request).bypass != nil
        let stored = isBypassed ? [] : await writer.store.responses(for: request.storageURL)
        switch CacheDecision(for: request, stored: stored, now: time.now) {
        case .serve(let response, let freshness):
            return serve(response, to: request, freshness, CacheStatus(outcome: .hit))
        case .revalidate(let response, let condition, let reason):
            return try await revalidate(response, condition, request, reason)
        case .fetch(let reason):
            return try await isBypassed ? forward(request, reason) : fetch(request, reason)
        case .unsatisfiable:
            var head = HTTPResponseHead(url: request.url, status: 504, fields: ["Content-Length": "0"])
            CacheStatus(outcome: .unsatisfiable).add(to: &head.fields)
            return HTTPResponse(head: head, body: HTTPBody(Data()))
        }
    }

    /// Passes a request on that the cache has no part in, except that it may change the resource.
    private func forward(_ request: HTTPRequest, _ reason: ForwardReason) async throws -> HTTPResponse {
        let isUnsafe = RequestRules(request).isUnsafe
        do {
            var response = try await transport.send(request)
            if isUnsafe, (200..<400).contains(response.head.status) { await writer.invalidate(request.storageURL) }
            CacheStatus(outcome: .forwarded(reason, status: response.head.status)).add(to: &response.head.fields)
            return response
        } catch {
            // Nobody knows how far the request came.
            if isUnsafe { await writer.invalidate(request.storageURL) }
            throw error
        }
    }

    private func fetch(_ request: HTTPRequest, _ reason: ForwardReason) async throws -> HTTPResponse {
        let exchange = writer.ledger.begin(request.storageURL)
        let requestTime = time.now
        let response = try await transport.send(request)
        return await take(response, to: request, reason, exchange, requestTime: requestTime)
    }

    private func revalidate(
        _ stored: StoredResponse, _ condition: HTTPFields, _ request: HTTPRequest, _ reason: ForwardReason
    ) async throws -> HTTPResponse {
        var conditional = request
        for field in condition.fields { conditional.fields.append(field.name, field.value) }
        let exchange = writer.ledger.begin(request.storageURL)
        let requestTime = time.now
        let response = try await transport.send(conditional)
        guard response.head.status == 304 else {
            return await take(response, to: request, reason, exchange, requestTime: requestTime)
        }
        // About something that is not here: ask again, for the whole.
        guard Validation.confirms(response.head, stored) else { return try await fetch(request, reason) }

        let now = time.now
        let fresh = Validation.freshened(
            stored, by: response.head, to: request, requestTime: requestTime, responseTime: now)
        var isStored = false
        if StorageRules.allow(fresh.head, to: request, receivedAt: now) {
            isStored = await writer.add(fresh, for: request, of: exchange, now: now)
        } else {
            await writer.remove(for: request)
        }
        let status = CacheStatus(outcome: .forwarded(reason, status: 304), isStored: isStored)
        return serve(fresh, to: request, Freshness(of: fresh, now: now), status)
    }

    /// Passes on what the network answered, and stores it when its body has ended well.
    private func take(
        _ response: HTTPResponse, to request: HTTPRequest, _ reason: ForwardReason,
        _ exchange: ExchangeLedger.Exchange, requestTime: Date
    ) async -> HTTPResponse {
        let responseTime = time.now
        var response = response
        let head = response.head
        var status = CacheStatus(outcome: .forwarded(reason, status: head.status))
        // A server in trouble says nothing about the resource; any other answer is newer than what is stored.
        if head.status < 500, head.status != 304 { await writer.remove(for: request) }
        if StorageRules.allow(head, to: request, receivedAt: responseTime),
            head.declaredBodyLength ?? 0 <= maximumBodyByteCount
        {
            status.isStored = true
            let (writer, time) = (writer, time)
            let source = CollectingBodySource(response.body, limit: maximumBodyByteCount) { body in
                guard head.declaredBodyLength ?? body.count == body.count else { return }
                let storedHead = StoredHead.make(head, for: request, receivedAt: responseTime)
                let stored = StoredResponse(
                    head: storedHead, body: body, varyingFields: Variants.varyingFields(of: request, for: storedHead),
                    requestTime: requestTime, responseTime: responseTime)
                await writer.add(stored, for: request, of: exchange, now: time.now)
            }
            response.body = HTTPBody(source)
        }
        status.add(to: &response.head.fields)
        return response
    }

    private func serve(
        _ stored: StoredResponse, to request: HTTPRequest, _ freshness: Freshness, _ status: CacheStatus
    ) -> HTTPResponse {
        var head = stored.head
        head.url = request.url
        // Section 5.1.
        head.fields["Age"] = freshness.ageField
        status.add(to: &head.fields)
        return HTTPResponse(head: head, body: HTTPBody(stored.body))
    }
}
