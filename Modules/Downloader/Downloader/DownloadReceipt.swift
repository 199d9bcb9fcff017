import Synchronization

/// An identifier of one caller's download, used to cancel the download or to change its priority. Other callers that
/// wait for the same bytes are not affected.
///
/// A receipt is unique in the process and compared by value. A downloader ignores a receipt that it did not issue.
public struct DownloadReceipt: Sendable, Hashable {
    private static let lastID = Atomic(0)

    /// The number of the receipt. Later receipts have greater numbers.
    let id: Int

    /// Creates a receipt that equals no other.
    init() { id = Self.lastID.add(1, ordering: .relaxed).newValue }
}
