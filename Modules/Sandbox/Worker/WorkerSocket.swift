#if Sandbox
    import AlcedoLibc
    import CSandboxShim

    /// The socket of a worker. The worker ends when the app has closed the other end.
    enum WorkerSocket {
        static func send(_ reply: alcedo_sandbox_reply) {
            var reply = reply
            let size = MemoryLayout<alcedo_sandbox_reply>.size
            while AlcedoLibc.send(Int32(ALCEDO_SANDBOX_SOCKET), &reply, size, Int32(MSG_NOSIGNAL)) != size {
                guard errno == EINTR else { _exit(0) }
            }
        }

        static func receive() -> alcedo_sandbox_request {
            var request = alcedo_sandbox_request()
            let size = MemoryLayout<alcedo_sandbox_request>.size
            while true {
                let count = recv(Int32(ALCEDO_SANDBOX_SOCKET), &request, size, 0)
                if count == size { return request }
                guard count < 0, errno == EINTR else { _exit(0) }
            }
        }
    }
#endif
