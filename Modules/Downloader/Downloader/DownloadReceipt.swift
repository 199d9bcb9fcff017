import AlcedoRuntime

/// An identifier of one caller's download, used to cancel the download or to change its priority. Other callers that
/// wait for the same bytes are not affected.
///
/// A receipt is unique in the process and compared by value. A downloader ignores a receipt that it did not issue.
public struct DownloadReceipt: Sendable, Hashable {
    let ticket = CoalescerTicket()
}
