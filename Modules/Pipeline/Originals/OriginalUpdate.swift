import AlcedoCore
import FoundationEssentials

/// What is told of bytes on their way.
enum OriginalUpdate: Sendable {
    case progress(DownloadProgress)
    /// Bytes, and where they belong; at nought anew when the transfer begins anew.
    case bytes(offset: Int, Data)
}
