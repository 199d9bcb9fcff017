import AlcedoCore
private import CCURLShim
import FoundationEssentials

/// The thread's own state: libcurl's handles and who they work for. Never leaves the thread that made it.
final class CURLLoop {
    private struct Active {
        var exchange: CURLExchange
        var transfer: OpaquePointer
    }

    private static let hasEnded = HTTPTransportError(.shutDown, "the transport has ended")

    private let mailbox: CURLMailbox
    private let loop: OpaquePointer?
    private var schedule: CURLSchedule
    private var active: [CURLExchange.ID: Active] = [:]
    private var nextCheck = ContinuousClock.now

    init(mailbox: CURLMailbox, _ settings: CURLSettings) {
        self.mailbox = mailbox
        schedule = CURLSchedule(limit: settings.connections, hostLimit: settings.connectionsPerHost)
        loop = settings.makeLoop()
    }

    /// Works until the mailbox says stop.
    func run() {
        guard let loop else { return mailbox.close(HTTPTransportError(.failed, "libcurl could not be started")) }
        mailbox.attach(loop)
        while obeyCommands() {
            startWaiting(loop)
            alcedo_curl_perform(loop, pollTimeout())
            finishEnded(loop)
            endLate()
        }
        mailbox.close(Self.hasEnded)
        alcedo_curl_loop_destroy(loop)
    }

    /// Returns false when there is nothing more to do, ever.
    private func obeyCommands() -> Bool {
        for command in mailbox.takeAll() {
            switch command {
            case .start(let exchange):
                // Its cancellation may have come first.
                if !exchange.isSettled { schedule.enqueue(exchange) }
            case .resume(let id):
                guard let found = active[id] else { continue }
                found.exchange.goOn()
                expectDeadline(of: found.exchange)
                // What it holds may be more than the body may have.
                guard alcedo_curl_resume(found.transfer) == 0 else { continue }
                active[id] = nil
                end(found, HTTPTransportError(.failed, "libcurl cannot go on after a pause"))
            case .cancel(let exchange):
                if let found = active.removeValue(forKey: exchange.id) {
                    remove(found)
                } else {
                    schedule.remove(exchange)
                }
            case .stop:
                for exchange in schedule.removeAllWaiting() { exchange.finish(Self.hasEnded) }
                for (_, found) in active { end(found, Self.hasEnded) }
                return false
            }
        }
        return true
    }

    private func startWaiting(_ loop: OpaquePointer) {
        while let exchange = schedule.next() {
            exchange.startClock()
            expectDeadline(of: exchange)
            if let transfer = start(exchange, loop) {
                active[exchange.id] = Active(exchange: exchange, transfer: transfer)
            } else {
                schedule.ended(exchange)
                exchange.finish(HTTPTransportError(.invalidRequest, "libcurl refuses \(exchange.request.url)"))
            }
        }
    }

    private func start(_ exchange: CURLExchange, _ loop: OpaquePointer) -> OpaquePointer? {
        let request = exchange.request
        let flat = request.headerLines.flatMap { $0 }
        return flat.withUnsafeBufferPointer { flat in
            var pointers: [UnsafePointer<CChar>] = []
            var offset = 0
            for line in request.headerLines {
                if let base = flat.baseAddress { pointers.append(base + offset) }
                offset += line.count
            }
            let body = request.body ?? Data()
            return body.bytes.withUnsafeBytes { body in
                request.withCStrings { method, url, pinnedKeys in
                    var described = alcedo_curl_request(
                        method: method, url: url, has_body: request.body == nil ? 0 : 1,
                        body: body.baseAddress?.assumingMemoryBound(to: UInt8.self), body_count: body.count,
                        decodes_content: request.decodesContent ? 1 : 0,
                        connect_timeout_ms: max(1, request.connectTimeout.milliseconds),
                        verifies: request.verifies ? 1 : 0, pinned_keys: pinnedKeys)
                    return alcedo_curl_transfer_start(
                        loop, &described, pointers, pointers.count, Self.callbacks(for: exchange))
                }
            }
        }
    }

    /// The exchange is kept alive by `active` for as long as libcurl may call.
    private static func callbacks(for exchange: CURLExchange) -> alcedo_curl_callbacks {
        alcedo_curl_callbacks(
            context: Unmanaged.passUnretained(exchange).toOpaque(),
            on_header: { context, bytes, count in
                guard let context else { return 0 }
                let exchange = Unmanaged<CURLExchange>.fromOpaque(context).takeUnretainedValue()
                return exchange.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? 1 : 0
            },
            on_body: { context, bytes, count in
                guard let context else { return -1 }
                let exchange = Unmanaged<CURLExchange>.fromOpaque(context).takeUnretainedValue()
                let isTaken = exchange.receiveBody(UnsafeRawBufferPointer(start: bytes, count: count))
                return isTaken.map { $0 ? 1 : 0 } ?? -1
            })
    }

    private func finishEnded(_ loop: OpaquePointer) {
        var context: UnsafeMutableRawPointer?
        var status = ALCEDO_CURL_OK
        var message: UnsafePointer<CChar>?
        while alcedo_curl_next_finished(loop, &context, &status, &message) != nil {
            guard let context else { continue }
            let exchange = Unmanaged<CURLExchange>.fromOpaque(context).takeUnretainedValue()
            let text = message.map { String(cString: $0) } ?? ""
            guard let found = active.removeValue(forKey: exchange.id) else { continue }
            end(found, Self.error(status, text, of: exchange))
        }
    }

    /// Looks at every transfer's deadline when the earliest has come, not at each turn.
    private func endLate() {
        let now = ContinuousClock.now
        guard now >= nextCheck else { return }
        var soonest = now + .seconds(1)
        for (id, found) in active {
            guard let deadline = found.exchange.deadline() else { continue }
            if deadline.time > now {
                soonest = min(soonest, deadline.time)
            } else {
                active[id] = nil
                end(found, HTTPTransportError(.timedOut, deadline.message))
            }
        }
        // What happens meanwhile only moves deadlines away, so this is never too late.
        nextCheck = soonest
    }

    private func expectDeadline(of exchange: CURLExchange) {
        if let deadline = exchange.deadline() { nextCheck = min(nextCheck, deadline.time) }
    }

    private func pollTimeout() -> Int32 {
        guard !active.isEmpty else { return 60_000 }
        let left = (nextCheck - ContinuousClock.now).milliseconds
        return Int32(clamping: min(max(left + 1, 0), 1000))
    }

    private func end(_ found: Active, _ error: HTTPTransportError?) {
        remove(found)
        found.exchange.finish(error)
    }

    /// Before the reader learns of the end, so that it finds the metrics.
    private func remove(_ found: Active) {
        found.exchange.record.finish(HTTPTransferMetrics(of: found.transfer, queued: found.exchange.queued))
        alcedo_curl_transfer_remove(found.transfer)
        schedule.ended(found.exchange)
    }

    private static func error(
        _ status: alcedo_curl_status, _ message: String, of exchange: CURLExchange
    ) -> HTTPTransportError? {
        switch status {
        case ALCEDO_CURL_OK: nil
        case ALCEDO_CURL_INVALID_REQUEST: HTTPTransportError(.invalidRequest, message)
        case ALCEDO_CURL_OFFLINE: HTTPTransportError(.offline, message)
        case ALCEDO_CURL_RESOLVE: HTTPTransportError(.cannotResolveHost, message)
        case ALCEDO_CURL_CONNECT: HTTPTransportError(.cannotConnect, message)
        case ALCEDO_CURL_SECURE: HTTPTransportError(.secureConnectionFailed, message)
        case ALCEDO_CURL_TIMEOUT: HTTPTransportError(.timedOut, message)
        case ALCEDO_CURL_LOST: HTTPTransportError(.connectionLost, message)
        case ALCEDO_CURL_INVALID_RESPONSE: HTTPTransportError(.invalidResponse, message)
        // So libcurl calls a line of the head that is too long for it, and more than it holds of what it has unpacked for
        // a reader that lags.
        case ALCEDO_CURL_OUT_OF_MEMORY where !exchange.isSettled:
            HTTPTransportError(.invalidResponse, "a line of the answer's head is too long")
        case ALCEDO_CURL_OUT_OF_MEMORY where exchange.unpacks:
            HTTPTransportError(.bodyTooLarge, "a piece of the body unpacks to more than 64 MiB")
        default: HTTPTransportError(.failed, message)
        }
    }
}
