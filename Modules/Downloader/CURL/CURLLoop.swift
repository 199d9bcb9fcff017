import AlcedoCore
private import CCURLShim
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The event loop of a transport: libcurl's handles and their transfers. It is used only on the thread that created it.
final class CURLLoop {
    private static let shutDownError = HTTPTransportError(.shutDown, "the transport has been shut down")

    private let mailbox: CURLMailbox
    private let loop: Result<OpaquePointer, HTTPTransportError>
    private let settings: CURLSettings
    /// The exchanges that wait for a slot, first come, first served. libcurl's own limit is not used, because the time
    /// in its queue would count toward the timeouts: a transfer's clock starts with its slot.
    private var waiting = WaiterQueue<CURLExchange>()
    private var active: [CURLExchange.ID: CURLTransfer] = [:]
    /// The exchanges that wait for a permit of an address. They have no slot.
    private var busy: [CURLExchange.ID: CURLExchange] = [:]
    private let receivedHeads = ReceivedHeads()
    private var unresponsiveServers = UnresponsiveServers()
    /// The permits for transfers with each address; nil if they are not limited.
    private let permits: AddressPermits<CURLExchange>?
    private var nextCheck = ContinuousClock.now
    /// The difference of the system clock and the uptime in seconds at the last request that used the cookies.
    private var clockOffset: TimeInterval?

    init(mailbox: CURLMailbox, _ settings: CURLSettings) {
        self.mailbox = mailbox
        permits = settings.maxConcurrentTransfersPerAddress.map { AddressPermits(limit: $0) }
        loop = Result { () throws(HTTPTransportError) in try settings.makeLoop() }
        self.settings = settings
    }

    /// Runs until the mailbox has a stop command. If libcurl's loop could not be created, the requests in the mailbox
    /// fail, and the function returns immediately.
    func run() {
        let loop: OpaquePointer
        switch self.loop {
        case .success(let created): loop = created
        case .failure(let error): return mailbox.close(error)
        }
        mailbox.attach(loop)
        while runCommands() {
            startWaiting(loop)
            alcedo_curl_wait(loop, mailbox.mayWait() ? pollTimeout() : 0)
            mailbox.hasWaited()
            alcedo_curl_perform(loop)
            finishCompleted(loop)
            for id in receivedHeads.takeAll() {
                guard let transfer = active[id] else { continue }
                unresponsiveServers.recordResponse(transfer.exchange.request.host)
                transfer.deliver()
            }
            endOverdue()
        }
        mailbox.close(Self.shutDownError)
        alcedo_curl_loop_destroy(loop)
    }

    /// Runs the commands in the mailbox. Returns false after a stop command.
    private func runCommands() -> Bool {
        for command in mailbox.takeAll() {
            switch command {
            case .start(let exchange):
                // The exchange may have been canceled before its start command is processed.
                if !exchange.isSettled { waiting.add(exchange.number, exchange, priority: 0) }
            case .resume(let id):
                guard let transfer = active[id] else { continue }
                transfer.resume()
                expectDeadline(of: transfer)
                // Resuming can fail, for example if the decoded bytes exceed `maximumDecodedByteCount`.
                guard let handle = transfer.handle, alcedo_curl_resume(handle) == 0 else { continue }
                end(transfer, HTTPTransportError(.failed, "libcurl cannot resume a paused transfer"))
            case .cancel(let exchange):
                if let transfer = active[exchange.id] {
                    remove(transfer)
                } else {
                    _ = waiting.remove(exchange.number)
                    _ = busy.removeValue(forKey: exchange.id)
                    permits?.release(exchange.number)
                }
            case .stop:
                for exchange in waiting.removeAll() + busy.values { exchange.finish(Self.shutDownError) }
                for transfer in active.values { end(transfer, Self.shutDownError) }
                return false
            }
        }
        return true
    }

    private func startWaiting(_ loop: OpaquePointer) {
        while active.count < settings.maxConcurrentTransfers, let exchange = nextWaiting() {
            let transfer = CURLTransfer(exchange, settings, permits: permits, receivedHeads: receivedHeads)
            expectDeadline(of: transfer)
            if let handle = start(transfer, loop) {
                transfer.handle = handle
                active[exchange.id] = transfer
                settings.onWait?(exchange.request.url, false)
            } else {
                permits?.release(exchange.number)
                exchange.finish(
                    HTTPTransportError(
                        .invalidRequest, "libcurl rejected the request for \(exchange.request.url.shown)"))
            }
        }
    }

    /// Removes and returns the next exchange that waits for a slot: first, those that have got a permit of an address.
    private func nextWaiting() -> CURLExchange? {
        for exchange in permits?.takeAdmitted() ?? [] {
            busy[exchange.id] = nil
            waiting.add(exchange.number, exchange, priority: 1)
        }
        return waiting.popFirst()?.element
    }

    private func start(_ transfer: CURLTransfer, _ loop: OpaquePointer) -> OpaquePointer? {
        let request = transfer.exchange.request
        let flat = request.headerLines.flatMap { $0 }
        let deletesCookies = settings.keepsCookies && !request.hasOwnCookies && clockWasSet()
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
                        is_repeatable: request.isIdempotent ? 1 : 0,
                        connect_timeout_ms: max(1, request.connectTimeout.milliseconds),
                        wants_fresh_connection: unresponsiveServers.contains(request.host) ? 1 : 0,
                        has_cookies: request.hasOwnCookies ? 1 : 0, deletes_cookies: deletesCookies ? 1 : 0,
                        verifies: request.verifies ? 1 : 0, pinned_keys: pinnedKeys)
                    return alcedo_curl_transfer_start(
                        loop, &described, pointers, pointers.count, callbacks(for: transfer))
                }
            }
        }
    }

    /// Returns whether the system clock was set by more than a minute since the last call. Cookies have expiry dates by
    /// the old time, and a cookie that was received while the clock was ahead would live too long.
    private func clockWasSet() -> Bool {
        let offset = settings.clock.now.timeIntervalSince1970 - settings.clock.uptime / .seconds(1)
        defer { clockOffset = offset }
        return clockOffset.map { abs($0 - offset) > 60 } ?? false
    }

    /// Returns the callbacks of a transfer. The dictionary `active` keeps the transfer alive while libcurl may call
    /// them.
    private func callbacks(for transfer: CURLTransfer) -> alcedo_curl_callbacks {
        var callbacks = alcedo_curl_callbacks(
            context: Unmanaged.passUnretained(transfer).toOpaque(),
            on_header: { context, bytes, count in
                guard let context else { return 0 }
                let transfer = Unmanaged<CURLTransfer>.fromOpaque(context).takeUnretainedValue()
                return transfer.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? 1 : 0
            },
            on_body: { context, bytes, count in
                guard let context else { return -1 }
                let transfer = Unmanaged<CURLTransfer>.fromOpaque(context).takeUnretainedValue()
                let isAccepted = transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: count))
                return isAccepted.map { $0 ? 1 : 0 } ?? -1
            }, on_connect: nil, on_send: nil)
        guard !settings.allowsPrivateAddresses || permits != nil else { return callbacks }
        callbacks.on_connect = { context, bytes, count in
            guard let context else { return 0 }
            let transfer = Unmanaged<CURLTransfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.mayConnect(to: UnsafeBufferPointer(start: bytes, count: count)) ? 1 : 0
        }
        guard permits != nil else { return callbacks }
        callbacks.on_send = { context, bytes, count in
            guard let context else { return 0 }
            let transfer = Unmanaged<CURLTransfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.maySend(to: UnsafeBufferPointer(start: bytes, count: count)) ? 1 : 0
        }
        return callbacks
    }

    private func finishCompleted(_ loop: OpaquePointer) {
        var context: UnsafeMutableRawPointer?
        var status = ALCEDO_CURL_OK
        var message: UnsafePointer<CChar>?
        while alcedo_curl_next_finished(loop, &context, &status, &message) != nil {
            guard let context else { continue }
            let transfer = Unmanaged<CURLTransfer>.fromOpaque(context).takeUnretainedValue()
            guard active[transfer.exchange.id] != nil else { continue }
            let error = self.error(status, message, of: transfer)
            if error == nil || !waitForAddress(transfer) { end(transfer, error) }
        }
    }

    /// Ends a transfer that was refused a permit of an address and has sent no request, and makes its exchange wait for
    /// the permit. Returns false for other transfers.
    private func waitForAddress(_ transfer: CURLTransfer) -> Bool {
        guard let permits, let address = transfer.busyAddress, !transfer.hasHead,
            transfer.handle.map({ alcedo_curl_send_count($0) == 0 }) != false
        else { return false }
        let exchange = transfer.exchange
        // Otherwise a server whose addresses fail in turn, each after a timeout, would be tried without end.
        if transfer.hasTried, !exchange.beginsFurtherWait() { return false }
        active[exchange.id] = nil
        if let handle = transfer.handle { alcedo_curl_transfer_remove(handle) }
        permits.release(exchange.number)
        // The reader may have canceled the exchange, and the command has not arrived yet.
        guard !exchange.isSettled else { return true }
        busy[exchange.id] = exchange
        permits.wait(for: address, exchange.number, exchange)
        settings.onWait?(exchange.request.url, true)
        return true
    }

    /// Ends transfers whose deadline has passed. To save time, deadlines are not checked in each iteration, but only
    /// when the earliest one may have passed.
    private func endOverdue() {
        let now = ContinuousClock.now
        guard now >= nextCheck else { return }
        var soonest = now + .seconds(1)
        for transfer in active.values {
            guard let deadline = transfer.deadline else { continue }
            if deadline.time > now {
                soonest = min(soonest, deadline.time)
            } else if !waitForAddress(transfer) {
                if deadline.isSilence, let handle = transfer.handle {
                    // The connection may be dead, and another transfer on it would not notice.
                    unresponsiveServers.recordTimeout(transfer.exchange.request.host)
                    alcedo_curl_transfer_abandon_connection(handle)
                }
                let message = deadline.message(origin: transfer.exchange.request.host.excerpt)
                end(transfer, HTTPTransportError(.timedOut, message))
            }
        }
        // Starting and resuming a transfer bring the check forward. All other events only move deadlines to later
        // times, so the check is never too late.
        nextCheck = soonest
    }

    private func expectDeadline(of transfer: CURLTransfer) {
        if let deadline = transfer.deadline { nextCheck = min(nextCheck, deadline.time) }
    }

    private func pollTimeout() -> Int32 {
        guard !active.isEmpty else { return 60_000 }
        let left = (nextCheck - ContinuousClock.now).milliseconds
        return Int32(clamping: min(max(left + 1, 0), 1000))
    }

    private func end(_ transfer: CURLTransfer, _ error: HTTPTransportError?) {
        remove(transfer)
        transfer.finish(error)
    }

    /// Removes a transfer from libcurl, records its metrics and returns its permits. `end` calls this function before
    /// it notifies the reader, so that the reader finds the metrics.
    private func remove(_ transfer: CURLTransfer) {
        active[transfer.exchange.id] = nil
        permits?.release(transfer.exchange.number)
        if let handle = transfer.handle {
            transfer.exchange.record.finish(HTTPTransferMetrics(of: handle, queued: transfer.queued))
            alcedo_curl_transfer_remove(handle)
        }
    }

    private func error(
        _ status: alcedo_curl_status, _ message: UnsafePointer<CChar>?, of transfer: CURLTransfer
    ) -> HTTPTransportError? {
        guard status != ALCEDO_CURL_OK else { return nil }
        let message = message.map { String(cString: $0).excerpt } ?? ""
        let url = transfer.exchange.request.url.shown
        return switch status {
        case ALCEDO_CURL_INVALID_REQUEST: HTTPTransportError(.invalidRequest, message)
        case ALCEDO_CURL_OFFLINE: HTTPTransportError(.offline, message)
        case ALCEDO_CURL_RESOLVE: HTTPTransportError(.cannotResolveHost, message)
        case ALCEDO_CURL_CONNECT where transfer.hasRefusedAddress:
            HTTPTransportError(
                .addressRefused,
                """
                cannot connect to \(transfer.exchange.request.host.excerpt): its address is not public \
                (CURLOptions.allowsPrivateAddresses is false)
                """)
        case ALCEDO_CURL_CONNECT where settings.usesProxy(for: transfer.exchange.request.url, failing: message):
            HTTPTransportError(.cannotConnectToProxy, "cannot connect to the proxy for \(url): \(message)")
        case ALCEDO_CURL_CONNECT: HTTPTransportError(.cannotConnect, message)
        case ALCEDO_CURL_NO_DESCRIPTORS: .outOfDescriptors
        case ALCEDO_CURL_PROXY_UNREACHABLE:
            HTTPTransportError(.cannotConnectToProxy, "cannot connect to the proxy for \(url): \(message)")
        case ALCEDO_CURL_PROXY_REFUSED:
            HTTPTransportError(.proxyRefused, "the proxy refused the connection for \(url): \(message)")
        case ALCEDO_CURL_SECURE: HTTPTransportError(.secureConnectionFailed, message)
        case ALCEDO_CURL_TIMEOUT: HTTPTransportError(.timedOut, message)
        case ALCEDO_CURL_LOST: HTTPTransportError(.connectionLost, message)
        case ALCEDO_CURL_INVALID_RESPONSE: HTTPTransportError(.invalidResponse, message)
        // libcurl also uses this code if a header line is too long.
        case ALCEDO_CURL_OUT_OF_MEMORY where !transfer.hasHead:
            HTTPTransportError(.invalidResponse, "a line of the response header of \(url) is too long")
        default: HTTPTransportError(.failed, message)
        }
    }
}

/// Servers that were silent until a timeout and have not sent a response since. Connections to them may be dead without
/// an error, for example after a change of the network. New transfers to them therefore use new connections.
struct UnresponsiveServers {
    /// The maximum number of servers. At the limit, all are removed. Each removed server may cost another timeout.
    private static let limit = 256

    private var hosts: Set<String> = []

    func contains(_ host: String) -> Bool { !hosts.isEmpty && hosts.contains(host) }

    mutating func recordTimeout(_ host: String) {
        if hosts.count >= Self.limit { hosts = [] }
        hosts.insert(host)
    }

    mutating func recordResponse(_ host: String) {
        if !hosts.isEmpty { hosts.remove(host) }
    }
}

extension HTTPTransportError {
    static let outOfDescriptors = HTTPTransportError(
        .outOfDescriptors,
        "no file descriptor is free: the limit of open files of the process (ulimit -n) or of the system is reached")
}

extension HTTPTransferMetrics {
    /// Creates the metrics of a transfer.
    ///
    /// - Parameters:
    ///   - transfer: A transfer that has not been removed.
    ///   - queued: The time for which the transfer waited for its slot.
    init(of transfer: OpaquePointer, queued: Duration) {
        let metrics = alcedo_curl_transfer_metrics(transfer)
        self.init()
        self.queued = queued
        // libcurl measures all times from the start. A phase that did not occur has the time of the preceding phase, or
        // zero.
        if metrics.is_reused == 0 {
            nameLookup = Self.phase(0, metrics.name_looked_up)
            connect = Self.phase(metrics.name_looked_up, metrics.connected)
            secureConnect = Self.phase(metrics.connected, metrics.secured)
        }
        firstByte = Self.phase(0, metrics.first_byte)
        total = .microseconds(metrics.total)
        bytesReceived = Int(clamping: metrics.bytes_received)
        bytesSent = Int(clamping: metrics.bytes_sent)
        isReusedConnection = metrics.is_reused != 0
        protocolName =
            switch metrics.version {
            case 10: "http/1.0"
            case 11: "http/1.1"
            case 20: "h2"
            case 30: "h3"
            default: nil
            }
    }

    private static func phase(_ start: Int64, _ end: Int64) -> Duration? {
        end > start ? .microseconds(end - start) : nil
    }
}
