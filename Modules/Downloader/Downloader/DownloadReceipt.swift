import Synchronization

/// Identifies one caller's download, to cancel it or to change its priority. Other callers of the same bytes are not
/// affected.
///
/// A receipt is unique in the process and compared by value. A downloader that did not issue it ignores it.
public struct DownloadReceipt: Sendable, Hashable {
    private static let lastID = Atomic(0)

    /// Later receipts have greater numbers.
    let id: Int

    /// Issues a receipt that equals no other.
    init() { id = Self.lastID.add(1, ordering: .relaxed).newValue }
}
