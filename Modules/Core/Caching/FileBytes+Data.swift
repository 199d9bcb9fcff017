package import AlcedoRuntime
package import FoundationEssentials

extension FileBytes {
    /// Returns the first `length` bytes as data that owns the memory, without copying.
    package consuming func prefix(_ length: Int) -> Data {
        Data(bytesNoCopy: takeMemory(), count: length, deallocator: .free)
    }
}
