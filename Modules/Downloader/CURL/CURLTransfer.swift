import AlcedoCore
import AlcedoHTTP
import CCURLShim
import FoundationEssentials

/// The loop's part of an exchange that has begun. It is used only on the loop's thread.
///
/// The head is passed to the waiting task at the end of the loop's iteration. A small body has often arrived completely
/// by then, and the task is then resumed once for both.
final class CURLTransfer {
    let exchange: CURLExchange
    /// libcurl's handle; nil before the transfer is started.
    var handle: OpaquePointer?
    private let maximumDecodedByteCount: Int
    private let allowsPrivateAddresses: Bool
    private let permits: AddressPermits<CURLExchange>?
    private let onAddress: (@Sendable (URL, _ address: String) -> Void)?
    private let receivedHeads: ReceivedHeads
    private var parser: ResponseHeadParser
    private var clock: TransferClock
    /// The heads that have not been delivered yet.
    private var heads: ResponseHeads?
    /// The decoder of the body; nil if the body is not decoded.
    private var decoder: ContentDecoder?
    /// The number of decoded bytes that the reader's pipe has accepted.
    private var decodedCount = 0
    private var failure: HTTPTransportError?

    /// Creates the transfer of an exchange.
    ///
    /// - Parameters:
    ///   - exchange: The exchange.
    ///   - settings: The settings of the transport.
    ///   - permits: The permits for transfers with each address; nil if they are not limited.
    ///   - receivedHeads: The list that receives the exchange when its final head has arrived.
    init(
        _ exchange: CURLExchange, _ settings: CURLSettings, permits: AddressPermits<CURLExchange>?,
        receivedHeads: ReceivedHeads
    ) {
        self.exchange = exchange
        maximumDecodedByteCount = settings.maximumDecodedByteCount
        allowsPrivateAddresses = settings.allowsPrivateAddresses
        self.permits = permits
        onAddress = settings.onAddress
        self.receivedHeads = receivedHeads
        parser = ResponseHeadParser(url: exchange.request.url, isHEAD: exchange.request.method == "HEAD")
        clock = TransferClock(enqueued: exchange.time)
    }

    /// Whether the head of the final response has arrived.
    private(set) var hasHead = false

    /// The time for which the exchange waited for its slot.
    var queued: Duration { clock.queued }

    /// The earliest time at which a timeout ends the exchange; nil if none applies. Progress postpones only the idle
    /// timeout.
    var deadline: CURLDeadline? { clock.deadline(exchange.request.timeouts) }

    /// Ends a pause. The idle timeout starts again, because the reader has taken the buffered bytes.
    func resume() { clock.resume() }

    /// Whether `mayConnect(to:)` has refused an address that is not public. The server may have other addresses that
    /// are allowed.
    private(set) var hasRefusedAddress = false
    /// The last address that had no permit left, if the request has not been sent to another one since.
    private(set) var busyAddress: InternetAddress?
    /// Whether libcurl has tried to connect to an address, or to send the request on a connection.
    private(set) var hasTried = false

    static let undoesListsOfCodings = alcedo_curl_undoes_lists_of_codings() != 0

    /// Returns whether a connection to an address is allowed, and takes a permit of the address. Records a refusal.
    func mayConnect(to bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let address = InternetAddress(bytes), allowsPrivateAddresses || address.isPublic else {
            hasRefusedAddress = true
            return false
        }
        return hasPermit(of: address)
    }

    /// Returns whether the request may be sent on a connection to an address. It may be a connection that an earlier
    /// transfer has left. If so, returns the permits of other addresses, to which libcurl tried to connect as well.
    func maySend(to bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let address = InternetAddress(bytes) else { return true }
        guard hasPermit(of: address) else { return false }
        permits?.release(exchange.number, except: address)
        busyAddress = nil
        // Not earlier, because libcurl tries several addresses of a name.
        reportAddress(address)
        return true
    }

    private func reportAddress(_ address: InternetAddress) { onAddress?(exchange.request.url, address.network.name) }

    private func hasPermit(of address: InternetAddress) -> Bool {
        guard let permits, !permits.acquire(address, for: exchange.number) else {
            hasTried = true
            return true
        }
        busyAddress = address
        reportAddress(address)
        return false
    }

    /// Processes one line of a head or of the trailers. Returns false to end the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        clock.receivedBytes()
        do throws(HTTPTransportError) {
            guard let heads = try parser.receive(line) else { return true }
            if !Self.undoesListsOfCodings, heads.final.fields["Transfer-Encoding"]?.contains(",") == true {
                throw HTTPTransportError(
                    .invalidResponse, "this version of libcurl does not support several transfer codings")
            }
            if exchange.request.decodesContent, heads.final.fields["Content-Encoding"] != nil {
                decoder = try ContentDecoder(heads.final)
            }
            self.heads = heads
            if let count = heads.final.declaredBodyLength { exchange.body.expect(count) }
            hasHead = true
            clock.receivedHead()
            receivedHeads.add(exchange.id)
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// Processes a piece of the body. Returns true if the piece was accepted, false to pause the transfer for a slow
    /// reader, and nil to end the transfer.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        clock.receivedBytes()
        let isAccepted: Bool
        do throws(HTTPTransportError) {
            isAccepted = try decoder?.decode(bytes, writeDecoded) ?? exchange.body.write(bytes)
        } catch {
            failure = error
            return nil
        }
        if !isAccepted { clock.pause() }
        return isAccepted
    }

    private func writeDecoded(_ bytes: UnsafeRawBufferPointer) throws(HTTPTransportError) -> Bool {
        guard bytes.count <= maximumDecodedByteCount - decodedCount else {
            throw HTTPTransportError(
                .bodyTooLarge, "the decompressed body exceeds the limit of \(maximumDecodedByteCount) bytes")
        }
        let isAccepted = exchange.body.write(bytes)
        if isAccepted { decodedCount += bytes.count }
        return isAccepted
    }

    /// Passes the heads to the waiting task. Has no effect before they have arrived and after they have been passed.
    func deliver() {
        guard let heads else { return }
        self.heads = nil
        exchange.settle(.success(heads))
    }

    /// Ends the exchange.
    ///
    /// - Parameter error: The error; nil if the response is complete. An earlier error of this transfer takes
    ///   precedence.
    func finish(_ error: HTTPTransportError?) {
        let error = failure ?? error
        guard heads != nil else { return exchange.finish(error) }
        exchange.body.finish(error)
        deliver()
    }
}

/// The exchanges whose heads have arrived in the current iteration of the loop. They are used only on the loop's
/// thread.
final class ReceivedHeads {
    private var exchanges: [CURLExchange.ID] = []

    func add(_ exchange: CURLExchange.ID) { exchanges.append(exchange) }

    func takeAll() -> [CURLExchange.ID] {
        defer { exchanges.removeAll(keepingCapacity: true) }
        return exchanges
    }
}
