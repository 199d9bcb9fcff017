import AlcedoCore
private import CCURLShim

extension HTTPTransferMetrics {
    /// - Parameter transfer: A transfer that has not been removed.
    init(of transfer: OpaquePointer, queued: Duration) {
        let told = alcedo_curl_transfer_metrics(transfer)
        self.init()
        self.queued = queued
        // libcurl counts all from the start, and gives what did not happen the time of what came before it, or nought.
        if told.is_reused == 0 {
            nameLookup = Self.phase(0, told.name_looked_up)
            connect = Self.phase(told.name_looked_up, told.connected)
            secureConnect = Self.phase(told.connected, told.secured)
        }
        firstByte = Self.phase(0, told.first_byte)
        total = .microseconds(told.total)
        bytesReceived = Int(clamping: told.bytes_received)
        bytesSent = Int(clamping: told.bytes_sent)
        isReusedConnection = told.is_reused != 0
        protocolName =
            switch told.version {
            case 10: "http/1.0"
            case 11: "http/1.1"
            case 20: "h2"
            case 30: "h3"
            default: nil
            }
    }

    private static func phase(_ start: Int64, _ end: Int64) -> Duration? {
        end > start ? .microseconds(end - start) : nil
    }
}
