import Alcedo
private import CHTTPServerShim
import FoundationEssentials

extension Reply {
    /// Queues it as the answer to a request. False when there is no memory for it.
    func send(as request: OpaquePointer) -> Bool {
        // One block of names and values, each ending in a NUL, and where in it they begin.
        var block: [CChar] = []
        var starts: [Int] = []
        for field in fields.fields {
            for text in [field.name, field.value] {
                starts.append(block.count)
                block.append(contentsOf: text.utf8CString)
            }
        }
        return block.withUnsafeBufferPointer { block in
            guard let base = block.baseAddress else { return false }
            let names = stride(from: 0, to: starts.count, by: 2).map { base + starts[$0] }
            let values = stride(from: 1, to: starts.count, by: 2).map { base + starts[$0] }
            return body.withUnsafeBytes { bytes in
                alcedo_http_reply(
                    request, UInt32(clamping: status), names, values, names.count, bytes.baseAddress, bytes.count) != 0
            }
        }
    }
}
