/// The error number of a failed system call. Read it from `errno` immediately after the call, because later calls may
/// change `errno`.
package struct SystemError: Error {
    package let number: Int32

    package init(number: Int32) { self.number = number }
}
