/// Names one who waits for a download, to cancel it or to change its priority. Others who wait for the same bytes are
/// not touched.
public struct DownloadReceipt: Sendable, Hashable {
    let id: Int
}
