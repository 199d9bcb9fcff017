import AlcedoRuntime
private import AlcedoLibc
private import CXXHashShim

/// The 64-bit XXH3 hash, a checksum against accidental corruption (torn writes, flipped bits) but not against
/// attackers. On x86-64 with AVX2, it is about three times as fast as ``/AlcedoRuntime/XXH64``.
struct XXH3: ~Copyable, Sendable {
    // The pointer is released only by the deinitializer, and each state has one owner.
    private nonisolated(unsafe) let state: OpaquePointer

    /// Creates a hash of an empty input, to which bytes can be added. Throws `ENOMEM` if memory is not available.
    init() throws(SystemError) {
        guard let state = alcedo_xxh3_create() else { throw SystemError(number: ENOMEM) }
        self.state = state
    }

    deinit { alcedo_xxh3_destroy(state) }

    /// Adds bytes to the input.
    func update(_ bytes: RawSpan) { bytes.withUnsafeBytes { alcedo_xxh3_update(state, $0.baseAddress, $0.count) } }

    /// The hash of all bytes added so far.
    var value: UInt64 { alcedo_xxh3_value(state) }

    /// Returns the hash of `bytes`. Complexity: O(*n*).
    static func hash(_ bytes: RawSpan) -> UInt64 { bytes.withUnsafeBytes { alcedo_xxh3($0.baseAddress, $0.count) } }

    /// Returns the hash of the bytes of `first`, followed by those of `second`. Complexity: O(*n*).
    static func hash(_ first: RawSpan, _ second: RawSpan) -> UInt64 {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                alcedo_xxh3_of_two(first.baseAddress, first.count, second.baseAddress, second.count)
            }
        }
    }
}
