import AlcedoCore
import AlcedoHTTP
import CCURLShim

/// The loop's side of an exchange that has begun. Never leaves the loop's thread.
///
/// The head is given to the waiting task only when the loop says so, at the end of its turn: by then a small body has
/// come whole, and the task wakes up once for everything.
final class CURLTransfer {
    let exchange: CURLExchange
    /// libcurl's handle; nil before the start.
    var handle: OpaquePointer?
    private let decodedByteLimit: Int
    private let receivedHeads: ReceivedHeads
    private var parser: ResponseHeadParser
    private var clock: TransferClock
    /// Heads that have not been given out.
    private var heads: ResponseHeads?
    /// Bytes that the body has unpacked to; nil when it is not coded.
    private var unpackedCount: Int?
    private var failure: HTTPTransportError?

    /// - Parameters:
    ///   - decodedByteLimit: The maximum number of bytes that a coded body may unpack to.
    ///   - receivedHeads: Receives the exchange when its head has arrived.
    init(_ exchange: CURLExchange, decodedByteLimit: Int, receivedHeads: ReceivedHeads) {
        self.exchange = exchange
        self.decodedByteLimit = decodedByteLimit
        self.receivedHeads = receivedHeads
        parser = ResponseHeadParser(url: exchange.request.url, isHEAD: exchange.request.method == "HEAD")
        clock = TransferClock(enqueued: exchange.time)
    }

    /// Whether the head of the final answer has come.
    private(set) var hasHead = false

    /// Whether the body is unpacked on the way.
    var unpacks: Bool { unpackedCount != nil }

    /// How long the exchange waited for its turn.
    var queued: Duration { clock.queued }

    /// When the exchange has taken too long, unless something happens before; nil: never.
    var deadline: CURLDeadline? { clock.deadline(exchange.request.timeouts) }

    /// The reader has made room.
    func resume() { clock.resume() }

    /// Whether the server has an address that is not connected to. It may have others.
    private(set) var hasRefusedAddress = false

    static let undoesListsOfCodings = alcedo_curl_undoes_lists_of_codings() != 0

    /// Whether a connection may go there. To be asked only where not every address will do.
    func mayConnect(to bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard InternetAddress(bytes)?.isPublic == true else {
            hasRefusedAddress = true
            return false
        }
        return true
    }

    /// Takes one line of the head. False ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        clock.receivedBytes()
        do throws(HTTPTransportError) {
            guard let heads = try parser.receive(line) else { return true }
            if !Self.undoesListsOfCodings, heads.final.fields["Transfer-Encoding"]?.contains(",") == true {
                throw HTTPTransportError(.invalidResponse, "this version of libcurl reads no list of transfer codings")
            }
            if exchange.request.decodesContent, heads.final.fields["Content-Encoding"] != nil { unpackedCount = 0 }
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

    /// Takes some of the body, or none of it when the reader lags; nil ends the transfer.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        clock.receivedBytes()
        if let unpackedCount, bytes.count > decodedByteLimit - unpackedCount {
            failure = HTTPTransportError(.bodyTooLarge, "the body unpacks to more than \(decodedByteLimit) bytes")
            return nil
        }
        let isAccepted = exchange.body.write(bytes)
        if isAccepted { unpackedCount? += bytes.count } else { clock.pause() }
        return isAccepted
    }

    /// Gives the waiting task its head, when one has come.
    func deliver() {
        guard let heads else { return }
        self.heads = nil
        exchange.settle(.success(heads))
    }

    /// Ends the exchange; nil when the answer is whole.
    func finish(_ error: HTTPTransportError?) {
        let error = failure ?? error
        guard heads != nil else { return exchange.finish(error) }
        exchange.body.finish(error)
        deliver()
    }
}

/// The exchanges whose heads have arrived in the current turn of the loop. Never leaves the loop's thread.
final class ReceivedHeads {
    private var exchanges: [CURLExchange.ID] = []

    func add(_ exchange: CURLExchange.ID) { exchanges.append(exchange) }

    func takeAll() -> [CURLExchange.ID] {
        defer { exchanges.removeAll(keepingCapacity: true) }
        return exchanges
    }
}
