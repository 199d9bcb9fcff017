import AlcedoCore
import FoundationEssentials

extension Data {
    /// XXH64, to tell whether a source still has what an image was made of: whoever could make two contents alike is the
    /// source itself.
    var digest: UInt64 { XXH64.hash(bytes) }
}
