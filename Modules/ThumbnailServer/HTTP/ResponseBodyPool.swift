import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// The response bodies that are being sent, with a limit on their total size. A body is in memory once for all
/// connections that send it, until the last one has finished.
final class ResponseBodyPool: Sendable {
    /// A body that is being sent to one client.
    final class Reference: Sendable {
        let data: Data
        private let bodies: ResponseBodyPool

        fileprivate init(_ data: Data, _ bodies: ResponseBodyPool) { (self.data, self.bodies) = (data, bodies) }

        deinit { bodies.release(data) }

        /// The bytes of the body, valid while this object exists. They are on the heap, and the immutable property
        /// keeps them at their address.
        var bytes: UnsafeRawBufferPointer { data.withUnsafeBytes { $0 } }
    }

    private struct Body: Sendable {
        var byteCount: Int
        var clients = 0
    }

    private struct State: Sendable {
        var byteCount = 0
        /// The bodies by the address of their bytes.
        var bodies: [UInt: Body] = [:]
    }

    /// The maximum number of bytes in a body that is copied. For such bodies, copying costs less than sharing. Short
    /// data may also have no heap address.
    static let copyLimit = 1024

    private let limit: Int
    private let state = Locked(State())

    /// Creates a pool.
    ///
    /// - Parameter limit: The maximum number of bytes. A larger body is accepted if no other body is being sent.
    init(limit: Int) { self.limit = limit }

    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Returns a reference to a body of more than ``copyLimit`` bytes; nil if the body would exceed the limit.
    func acquire(_ data: Data) -> Reference? {
        let address = Self.address(of: data)
        let isAdmitted = state.withLock { state in
            if state.bodies[address] == nil {
                guard state.byteCount == 0 || state.byteCount + data.count <= limit else { return false }
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
