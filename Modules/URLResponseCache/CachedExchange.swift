import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The handling of one request by a caching transport. It carries out the cache's decision.
struct CachedExchange: Sendable {
    private let cache: CachingParts
    private let request: HTTPRequest
    private let directives: RequestDirectives
    private let candidate: StoredCandidate
    /// The exchange of what was found in the store.
    private let lookup: ExchangeTracker.Exchange

    init(
        _ cache: CachingParts, _ request: HTTPRequest, _ directives: RequestDirectives,
        _ candidate: StoredCandidate, _ lookup: ExchangeTracker.Exchange
    ) {
        self.lookup = lookup
        self.cache = cache
        self.request = request
        self.directives = directives
        self.candidate = candidate
    }

    func perform(_ decision: CacheDecision) async throws -> HTTPResponse {
        switch decision {
        case .serve(let stored, let source): return serve(stored, source)
        case .serveAndRevalidate(let stored):
            cache.background.start(candidate.key) {
                // If the revalidation fails, the next request tries again.
                guard let response = try? await revalidate(stored, .stale) else { return }
                try? await response.body.receive(
                    limit: cache.maximumRevalidationByteCount, declaredCount: response.head.declaredBodyLength)
            }
            return serve(stored, .stale)
        case .revalidate(let stored, let reason):
            return try await fallingBackToStale(stored, reason) { try await revalidate(stored, reason) }
        case .complete(let stored): return try await complete(stored)
        case .fetch(let reason):
            guard let stored = candidate.response else { return try await fetch(reason) }
            return try await fallingBackToStale(stored, reason) { try await fetch(reason) }
        case .forward(let reason): return try await forward(reason)
        case .unsatisfiable:
            guard request.cachePolicy != .returnCacheDataDontLoad else {
                throw HTTPTransportError(.notCached, "no stored response for \(request.url.shown)")
            }
            return HTTPResponse.gatewayTimeout(for: request, CacheStatus(outcome: .unsatisfiable))
        }
    }

    // MARK: From the store

    private func serve(_ stored: StoredResponse, _ source: ResponseCaching.Source) -> HTTPResponse {
        let age = stored.age(at: cache.clock.now)
        let left = min(max(stored.terms.lifetime - age, -TimeInterval(DeltaSeconds.limit)), TimeInterval(Int32.max))
        return serve(stored, source, age: age, CacheStatus(outcome: .hit(timeToLive: Int(left.rounded(.down)))))
    }

    private func serve(
        _ stored: StoredResponse, _ source: ResponseCaching.Source, age: TimeInterval?, _ status: CacheStatus
    ) -> HTTPResponse {
        stored.response(
            to: request, directives, age: age, status,
            ResponseCaching(source: source, decision: StorageDecision(stored.storagePolicy)))
    }

    /// Returns the response of `send`, or the stored response if the server fails and stale use is allowed. If it is
    /// not allowed, returns the error response of the server or throws the error of `send`. If the server cannot be
    /// reached and the rules set `respondsWhenDisconnected`, returns 504 instead of throwing.
    private func fallingBackToStale(
        _ stored: StoredResponse, _ reason: ForwardReason, _ send: () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var status: Int?
        let disconnections: [HTTPTransportError.Code] = [
            .offline, .cannotResolveHost, .cannotConnect, .cannotConnectToProxy, .timedOut, .connectionLost,
        ]
        do {
            let response = try await send()
            guard StatusRules.isStaleIfError(response.head.status), isUsable(stored, despite: .error) else {
                return response
            }
            response.body.cancel()
            status = response.head.status
        } catch let error as HTTPTransportError {
            guard disconnections.contains(error.code) else { throw error }
            guard isUsable(stored, despite: .disconnected) else {
                guard cache.rules.respondsWhenDisconnected else { throw error }
                // RFC 9111 section 5.2.2.2.
                return HTTPResponse.gatewayTimeout(for: request, CacheStatus(outcome: .forwarded(reason, status: nil)))
            }
        }
        let age = stored.age(at: cache.clock.now)
        return serve(stored, .stale, age: age, CacheStatus(outcome: .forwarded(reason, status: status)))
    }

    private func isUsable(_ stored: StoredResponse, despite failure: Staleness.Failure) -> Bool {
        // The other policies require a response or a confirmation from the server.
        guard request.cachePolicy == .useProtocolCachePolicy else { return false }
        guard directives.range.map({ PartialContentRules.stored($0, of: stored) != nil }) ?? (stored.part == nil) else {
            return false
        }
        let now = cache.clock.now
        return !stored.isExpired(at: now)
            && Staleness.allows(stored, at: now, despite: failure, directives, cache.rules)
    }

    // MARK: From the network

    /// Forwards a request that the cache does not handle. An unsafe request still invalidates stored responses, and its
    /// response may be stored for later GET requests.
    private func forward(_ reason: ForwardReason) async throws -> HTTPResponse {
        let requestTime = cache.clock.now
        let resource = request.resourceKey
        do {
            let response = try await cache.transport.send(request)
            guard directives.isUnsafe else { return uncached(response, reason) }
            return await receive(response, reason, nil, requestTime: requestTime)
        } catch {
            // The server may have received the request before the error.
            if directives.isUnsafe { await cache.writer.invalidate(resource) }
            throw error
        }
    }

    private func fetch(_ reason: ForwardReason) async throws -> HTTPResponse {
        if reason == .varyMiss, request.method == .get, !directives.isConditional, directives.range == nil,
            !candidate.otherTags.isEmpty, let response = try await selectVariant()
        {
            return response
        }
        let exchange = cache.writer.exchanges.begin(candidate.key.resource)
        let requestTime = cache.clock.now
        let response = try await cache.transport.send(applyingPolicy(request))
        return await receive(response, reason, exchange, requestTime: requestTime)
    }

    /// Returns the request with the cache directives that its policy sends to the caches on the path.
    ///
    /// Source: the Fetch standard, HTTP-network-or-cache fetch.
    private func applyingPolicy(_ request: HTTPRequest) -> HTTPRequest {
        var sent = request
        switch request.cachePolicy {
        case .reloadIgnoringLocalAndRemoteCacheData:
            sent.fields["Cache-Control"] = "no-cache"
            sent.fields["Pragma"] = "no-cache"
        case .reloadRevalidatingCacheData where !request.fields.contains("Cache-Control"):
            sent.fields["Cache-Control"] = "max-age=0"
        default: break
        }
        return sent
    }

    /// Sends the request with the entity tags of the variants that are stored for other requests. Returns the variant
    /// that the server selects, with its updated head, or the new response that the server sends. Updates the store as
    /// the response requires. Returns nil if the server sends a 304 that selects no usable variant.
    private func selectVariant() async throws -> HTTPResponse? {
        let offering = applyingPolicy(Validation.request(request, offering: candidate.otherTags.map(\.entityTag)))
        let exchange = cache.writer.exchanges.begin(candidate.key.resource)
        let requestTime = cache.clock.now
        let response = try await cache.transport.send(offering)
        guard response.head.status == 304 else {
            return await receive(response, .varyMiss, exchange, requestTime: requestTime)
        }
        guard let tag = response.head.fields.entityTag,
            let selected = candidate.otherTags.first(where: { EntityTag($0.entityTag)?.matchesWeakly(tag) == true }),
            case .response(let stored) = await cache.store.entry(
                for: ImageKey(candidate.key.resource, variant: selected.variant)),
            stored.part == nil, Vary.hasForm(stored, for: request), !stored.isExpired(at: cache.clock.now)
        else { return nil }
        switch CacheUpdate(response.head, stored: stored, context(requestTime: requestTime)) {
        case .freshen(let fresh, let isKept):
            let isStored = isKept ? await cache.writer.store(fresh, for: request, of: lookup) : false
            return confirmed(fresh, .varyMiss, by: response, isStored: isStored)
        case .confirm(let fresh): return confirmed(fresh, .varyMiss, by: response, isStored: false)
        default: return nil
        }
    }

    private func revalidate(_ stored: StoredResponse, _ reason: ForwardReason) async throws -> HTTPResponse {
        guard let conditional = Validation.request(request, confirming: stored) else { return try await fetch(reason) }
        let sent = applyingPolicy(conditional)
        let outcome = try await cache.revalidations.value(for: sent) { _ in try await validate(stored, by: sent, reason)
        }
        switch outcome {
        case .confirmed(let fresh, let response, let isStored):
            return confirmed(fresh, reason, by: response, isStored: isStored)
        case .replaced(let shared):
            if let response = shared.take(isConditional: directives.isConditional) { return response }
            return try await fetch(reason)
        }
    }

    /// Sends one conditional request for all requests that share the validation, and updates the store as the response
    /// requires. Returns the confirmed response or the new one.
    private func validate(
        _ stored: StoredResponse, by conditional: HTTPRequest, _ reason: ForwardReason
    ) async throws -> Revalidation {
        let exchange = cache.writer.exchanges.begin(candidate.key.resource)
        let requestTime = cache.clock.now
        let response = try await cache.transport.send(conditional)
        guard response.head.status == 304 else {
            return .replaced(
                Revalidation.SingleUseResponse(await receive(response, reason, exchange, requestTime: requestTime)))
        }
        var context = context(requestTime: requestTime, for: confirmingRequest)
        context.isConditionalOnStored = true
        switch CacheUpdate(response.head, stored: stored, context) {
        case .freshen(let fresh, let isKept):
            let isStored = await replaceStored(by: fresh, isKept, lookup)
            return .confirmed(fresh, by: response, isStored: isStored)
        case .confirm(let fresh): return .confirmed(fresh, by: response, isStored: false)
        default: break
        }
        if Validation.isAboutCaller(response.head, request) {
            return .replaced(Revalidation.SingleUseResponse(uncached(response, reason)))
        }
        response.body.cancel()
        // The 304 does not confirm the stored response. If the caller sent a condition of its own, the 304 may be about
        // the caller's copy without saying so. The request is then sent again with the caller's condition alone
        // (section 4.3.2).
        if !directives.isConditional { await cache.writer.remove(candidate, for: request, of: lookup) }
        return .replaced(Revalidation.SingleUseResponse(try await fetch(reason)))
    }

    /// Requests the rest of a content whose beginning is stored, and combines both. If the server sends another usable
    /// response, returns that response. Otherwise, removes the beginning and sends the caller's own request.
    private func complete(_ stored: StoredResponse) async throws -> HTTPResponse {
        let exchange = cache.writer.exchanges.begin(candidate.key.resource)
        let requestTime = cache.clock.now
        var response = try await cache.transport.send(
            applyingPolicy(request.resumed(at: stored.body.count, ifUnchangedSince: stored.rangeCondition)))
        guard PartialContentRules.isRest(response.head, of: stored) else {
            // The caller's own request has neither a condition nor a range. The caller therefore has no copy that a 304
            // could confirm (RFC 9110 section 15.4.5). The transport may decode a content coding for that request, but
            // never for a request with a range.
            guard
                [206, 304, 416].contains(response.head.status) || response.head.fields.contains("Content-Encoding")
            else {
                return await receive(response, .partial, exchange, requestTime: requestTime)
            }
            response.body.cancel()
            await cache.writer.remove(candidate, for: request, of: lookup)
            return try await fetch(.partial)
        }
        let context = context(requestTime: requestTime)
        var complete = Validation.freshened(stored, by: response.head, context)
        let count = response.head.fields["Content-Range"].flatMap { ContentRange($0)?.completeCount } ?? 0
        complete.part = nil
        complete.head.fields["Content-Length"] = String(count)
        let storability = StorageRules.storability(of: complete.head, to: request, role: cache.rules.role)
        var fields = complete.head.fields
        fields["Age"] = response.head.fields["Age"]
        response.head = HTTPResponseHead(url: request.url, status: 200, fields: fields)
        response.body = HTTPBody(
            PrefixedBodySource(stored.body, before: response.body, announcing: count))
        return await deliver(
            response, .partial, storability == .storable ? complete : nil, lookup, storability, originStatus: 206)
    }

    /// Returns a response from the network, and updates the store as the response requires.
    private func receive(
        _ response: HTTPResponse, _ reason: ForwardReason, _ exchange: ExchangeTracker.Exchange?, requestTime: Date
    ) async -> HTTPResponse {
        let head = response.head
        var update = CacheUpdate(head, stored: candidate.response, context(requestTime: requestTime))
        var exchange = exchange
        if case .invalidate(let resources, let new) = update {
            for resource in resources { await cache.writer.invalidate(resource) }
            exchange = cache.writer.exchanges.begin(candidate.key.resource)
            update = new.map { .store($0) } ?? .keep
        }
        let storability = StorageRules.storability(of: head, to: request, role: cache.rules.role)
        guard let exchange else { return uncached(response, reason) }
        switch update {
        case .store(let new): return await deliver(response, reason, new, exchange, storability)
        case .freshen(let fresh, let isKept): await replaceStored(by: fresh, isKept, exchange)
        // Without a stored response for this request, nothing is removed: variants for other requests may be current.
        case .drop: if candidate.response != nil { await cache.writer.remove(candidate, for: request, of: exchange) }
        case .keep, .confirm, .invalidate: break
        }
        return await deliver(response, reason, nil, exchange, storability)
    }

    /// Returns the response with its cache status. If `new` is not nil, the body is copied while it is read, and is
    /// then stored under the head of `new`.
    ///
    /// The parameter `originStatus` is the status that the server sent; nil if it is the status of the response.
    private func deliver(
        _ response: HTTPResponse, _ reason: ForwardReason, _ new: StoredResponse?,
        _ exchange: ExchangeTracker.Exchange, _ storability: StorageRules.Storability, originStatus: Int? = nil
    ) async -> HTTPResponse {
        var response = response
        let decision = StorageDecision(storability == .forbidden ? .notAllowed : .allowed)
        response.caching = ResponseCaching(source: .new, decision: decision)
        var status = CacheStatus(outcome: .forwarded(reason, status: originStatus ?? response.head.status))
        if let new, !mayKeep(response.head) {
            await removeOutdated(new, exchange)
        } else if let new {
            // The head allows storage; a hook may still refuse it after the body has arrived.
            status.isStored = cache.willStore == nil
            let (announced, length) = (response.head.announcedByteCount, response.head.fields.declaredLength)
            response.body = HTTPBody(
                CollectingBodySource(
                    response.body, limit: cache.maximumBodyByteCount, budget: cache.budget
                ) { body, end in
                    var stored = new
                    stored.body = body
                    if end != .complete || announced.map({ $0 != body.count }) ?? false {
                        let hasEnd =
                            end == .complete && length == .bytes(body.count)
                            && directives.range?.hasLastPosition == false
                        guard end != .tooLong,
                            let received = PartialContentRules.received(stored, announced: announced, hasEnd: hasEnd)
                        else { return await removeOutdated(new, exchange) }
                        stored = received
                    }
                    if await !storeIfApproved(stored, exchange, decision) { await removeOutdated(new, exchange) }
                })
        }
        status.add(to: &response.head.fields)
        return response
    }

    /// Whether the head allows the body to be stored: its declared length is valid and within the limit.
    private func mayKeep(_ head: HTTPResponseHead) -> Bool {
        head.fields.declaredLength != .invalid && head.declaredBodyLength ?? 0 <= cache.maximumBodyByteCount
    }

    /// Removes the stored response when a newer response supersedes it but cannot be stored.
    ///
    /// The stored response is then no longer the most recent (RFC 9111 section 4). It stays if the newer one is
    /// partial, reports a temporary failure of the server, or has the same content.
    private func removeOutdated(_ new: StoredResponse, _ exchange: ExchangeTracker.Exchange) async {
        guard let old = candidate.response, new.part == nil, !StatusRules.isTransientFailure(new.head.status),
            !PartialContentRules.isSameContent(new.head, old)
        else { return }
        await cache.writer.remove(candidate, for: request, of: exchange)
    }

    /// Stores a response if the app's hook approves it and its storage policy allows storage, and restricts `decision`
    /// to that policy. Returns whether the response was approved, even if the store then did not accept it.
    private func storeIfApproved(
        _ new: StoredResponse, _ exchange: ExchangeTracker.Exchange, _ decision: StorageDecision
    ) async -> Bool {
        let stored = await cache.approved(new, for: request)
        decision.restrict(to: stored?.storagePolicy ?? .notAllowed)
        guard let stored, stored.storagePolicy != .notAllowed else { return false }
        await cache.writer.store(stored, for: request, of: exchange)
        return true
    }

    /// Replaces the stored response by one with a new head, or removes it if `isKept` is false. Returns whether the new
    /// one is stored.
    @discardableResult
    private func replaceStored(
        by fresh: StoredResponse, _ isKept: Bool, _ exchange: ExchangeTracker.Exchange
    ) async -> Bool {
        guard isKept else {
            await cache.writer.remove(candidate, for: request, of: exchange)
            return false
        }
        return await cache.writer.store(fresh, for: confirmingRequest, of: exchange, inPlaceOf: candidate.key)
    }

    /// The request with which the found response is confirmed. A response that was stored for all accounts stays for
    /// all.
    private var confirmingRequest: HTTPRequest {
        let names = [HTTPRequest.Audience.identifierName, HTTPRequest.Audience.ownFieldsName]
        guard request.audience != nil, let fields = candidate.response?.varyingFields,
            !names.contains(where: fields.contains)
        else { return request }
        var shared = request
        shared.audience = nil
        return shared
    }

    // MARK: Making responses

    private func confirmed(
        _ fresh: StoredResponse, _ reason: ForwardReason, by notModified: HTTPResponse, isStored: Bool
    ) -> HTTPResponse {
        let status = CacheStatus(outcome: .forwarded(reason, status: 304), isStored: isStored)
        // An `Age` field means that a cache, not the origin server, confirmed the response (section 5.1).
        let age = notModified.head.fields.contains("Age") ? fresh.age(at: cache.clock.now) : nil
        var response = serve(fresh, .revalidated, age: age, status)
        response.interim = notModified.interim
        // A qualified `no-cache` keeps cookies out of the store, but not from the caller that validated the response.
        // In a shared cache several users may wait for one validation, so none of them receives its cookies.
        if !cache.rules.role.isShared, !response.head.fields.contains("Set-Cookie") {
            for cookie in notModified.head.fields.values(of: "Set-Cookie") {
                response.head.fields.append("Set-Cookie", cookie)
            }
        }
        return response
    }

    /// Returns a response that the cache does not store, with its cache status.
    private func uncached(_ response: HTTPResponse, _ reason: ForwardReason) -> HTTPResponse {
        var response = response
        let storability = StorageRules.storability(of: response.head, to: request, role: cache.rules.role)
        let decision = StorageDecision(storability == .forbidden ? .notAllowed : .allowed)
        response.caching = ResponseCaching(source: .new, decision: decision)
        CacheStatus(outcome: .forwarded(reason, status: response.head.status)).add(to: &response.head.fields)
        return response
    }

    private func context(requestTime: Date, for request: HTTPRequest? = nil) -> ExchangeContext {
        ExchangeContext(
            request: request ?? self.request, requestTime: requestTime, responseTime: cache.clock.now,
            rules: cache.rules)
    }
}
