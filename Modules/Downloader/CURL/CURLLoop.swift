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

    init(mailbox: CURLMailbox, connections: Int, connectionsPerHost: Int) {
        self.mailbox = mailbox
        schedule = CURLSchedule(limit: connections, hostLimit: connectionsPerHost)
        loop = alcedo_curl_loop_create(connections)
    }

    /// Works until the mailbox says stop.
    func run() {
        guard let loop else { return mailbox.close(HTTPTransportError(.failed, "libcurl could not be started")) }
        mailbox.attach(loop)
        while obeyCommands() {
            startWaiting(loop)
            alcedo_curl_perform(loop, pollTimeout())
            finishEnded(loop)
            endSilent()
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
                startTimer(found.exchange)
                alcedo_curl_resume(found.transfer)
            case .cancel(let exchange):
                if let found = active.removeValue(forKey: exchange.id) {
                    alcedo_curl_transfer_remove(found.transfer)
                    schedule.ended(exchange)
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
            startTimer(exchange)
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
                request.method.withCString { method in
                    request.url.absoluteString.withCString { url in
                        var described = alcedo_curl_request(
                            method: method, url: url, has_body: request.body == nil ? 0 : 1,
                            body: body.baseAddress?.assumingMemoryBound(to: UInt8.self), body_count: body.count,
                            decodes_content: request.decodesContent ? 1 : 0,
                            idle_timeout_ms: max(1, request.idleTimeout.milliseconds))
                        return alcedo_curl_transfer_start(
                            loop, &described, pointers, pointers.count, Self.callbacks(for: exchange))
                    }
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
                return exchange.receiveBody(UnsafeRawBufferPointer(start: bytes, count: count)) ? 1 : 0
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
            end(found, Self.error(status, text))
        }
    }

    /// Looks at every transfer's silence when the earliest deadline has come, not at each turn.
    private func endSilent() {
        let now = ContinuousClock.now
        guard now >= nextCheck else { return }
        var soonest = Duration.seconds(1)
        for (id, found) in active {
            guard let left = found.exchange.timeLeft(at: now) else { continue }
            if left > .zero {
                soonest = min(soonest, left)
            } else {
                active[id] = nil
                let seconds = Double(found.exchange.request.idleTimeout.milliseconds) / 1000
                end(found, HTTPTransportError(.timedOut, "the server was silent for \(seconds) seconds"))
            }
        }
        // Activity only moves deadlines away, so this is never too late.
        nextCheck = now + soonest
    }

    private func startTimer(_ exchange: CURLExchange) {
        exchange.restartTimer()
        nextCheck = min(nextCheck, ContinuousClock.now + exchange.request.idleTimeout)
    }

    private func pollTimeout() -> Int32 {
        guard !active.isEmpty else { return 60_000 }
        let left = (nextCheck - ContinuousClock.now).milliseconds
        return Int32(clamping: min(max(left + 1, 0), 1000))
    }

    private func end(_ found: Active, _ error: HTTPTransportError?) {
        alcedo_curl_transfer_remove(found.transfer)
        schedule.ended(found.exchange)
        found.exchange.finish(error)
    }

    private static func error(_ status: alcedo_curl_status, _ message: String) -> HTTPTransportError? {
        switch status {
        case ALCEDO_CURL_OK: nil
        case ALCEDO_CURL_INVALID_REQUEST: HTTPTransportError(.invalidRequest, message)
        case ALCEDO_CURL_RESOLVE: HTTPTransportError(.cannotResolveHost, message)
        case ALCEDO_CURL_CONNECT: HTTPTransportError(.cannotConnect, message)
        case ALCEDO_CURL_SECURE: HTTPTransportError(.secureConnectionFailed, message)
        case ALCEDO_CURL_TIMEOUT: HTTPTransportError(.timedOut, message)
        case ALCEDO_CURL_LOST: HTTPTransportError(.connectionLost, message)
        case ALCEDO_CURL_INVALID_RESPONSE: HTTPTransportError(.invalidResponse, message)
        default: HTTPTransportError(.failed, message)
        }
    }
}
