import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// The bodies that are on their way to clients. Each is in memory once, however many connections take it, until the slowest
/// has it; all together have a limit.
final class ResponseBodyPool: Sendable {
    /// A body on its way to one client.
    final class Reference: Sendable {
        let data: Data
        private let bodies: ResponseBodyPool

        fileprivate init(_ data: Data, _ bodies: ResponseBodyPool) { (self.data, self.bodies) = (data, bodies) }

        deinit { bodies.release(data) }

        /// Where the body is, as long as this is held: bytes on the heap, which the constant keeps where they are.
        var bytes: UnsafeRawBufferPointer { data.withUnsafeBytes { $0 } }
    }

    private struct Body: Sendable {
        var byteCount: Int
        var clients = 0
    }

    private struct State: Sendable {
        var byteCount = 0
        /// By the address of their bytes.
        var bodies: [UInt: Body] = [:]
    }

    /// Up to so many bytes are copied, which costs less than to share them; so few may also have no place on the heap.
    static let copyLimit = 1024

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: Most bytes; one body that has more is sent when there is no other.
    init(limit: Int) { self.limit = limit }

    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Holds a body of more than ``copyLimit`` bytes; nil when there is no room for it.
    ///
    /// - Parameter isBrief: It is let go at once, and needs no room.
    func acquire(_ data: Data, isImmediate: Bool) -> Reference? {
        let address = Self.address(of: data)
        let isAdmitted = state.withLock { state in
            if state.bodies[address] == nil {
                guard isImmediate || state.byteCount == 0 || state.byteCount + data.count <= limit else { return false }
                state.byteCount += data.count
            }
            state.bodies[address, default: Body(byteCount: data.count)].clients += 1
            return true
        }
        return isAdmitted ? Reference(data, self) : nil
    }

    private func release(_ data: Data) {
        let address = Self.address(of: data)
        state.withLock { state in
            guard var body = state.bodies[address] else { return }
            body.clients -= 1
            state.bodies[address] = body.clients > 0 ? body : nil
            if body.clients == 0 { state.byteCount -= body.byteCount }
        }
    }

    private static func address(of data: Data) -> UInt { data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
}
